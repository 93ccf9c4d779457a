import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

const navy: MantineColorsTuple = [
  "#eef2ff",
  "#dae2fb",
  "#b1c1f3",
  "#859ded",
  "#607fe7",
  "#496ce4",
  "#3c62e3",
  "#2e52ca",
  "#2648b5",
  "#183da0",
];

export const theme = createTheme({
  primaryColor: "navy",
  colors: { navy },
  defaultRadius: "md",
  cursorType: "pointer",
  // Components that wait for the end of a transition would wait for ever where main.css has switched it off.
  respectReducedMotion: true,
  fontFamily: "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
  fontFamilyMonospace: "'JetBrains Mono', ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  headings: {
    fontWeight: "650",
    sizes: { h1: { fontSize: "1.5rem" }, h2: { fontSize: "1.2rem" }, h3: { fontSize: "1rem" } },
  },
  components: {
    // Browsers would offer what was typed into other forms.
    TextInput: { defaultProps: { autoComplete: "off" } },
    PasswordInput: { defaultProps: { autoComplete: "new-password" } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { "aria-label": "Close" },
      },
    },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Table: { defaultProps: { verticalSpacing: "xs", highlightOnHover: true } },
    Paper: { defaultProps: { withBorder: true } },
    Card: { defaultProps: { withBorder: true } },
  },
});

/** The tones as text colours. Each has a contrast of at least 4.5 on the page and on its own light badge. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--tone-good": "#1a6e2e",
    "--tone-progress": "#1c56b8",
    "--tone-warning": "#8a5300",
    "--tone-bad": "#b3261e",
    "--tone-unknown": "#545b64",
    "--mantine-color-dimmed": "#5c636b",
    "--mantine-color-error": "#b3261e",
    "--page-background": "#f8f9fb",
  },
  dark: {
    "--tone-good": "#69db7c",
    "--tone-progress": "#82b5ff",
    "--tone-warning": "#ffc65c",
    "--tone-bad": "#ff8f88",
    "--tone-unknown": "#adb5bd",
    "--mantine-color-dimmed": "#a6adb4",
    "--mantine-color-error": "#ff8f88",
    "--mantine-color-anchor": "#8ab0ff",
    "--page-background": "#1a1b1e",
  },
});
