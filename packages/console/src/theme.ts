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

/** From texts to the ground of the page. Cards lie on a ground of the same hue. */
const slate: MantineColorsTuple = [
  "#dfe4ec",
  "#b8c1cf",
  "#a3adbd",
  "#8f9aab",
  "#454f60",
  "#384252",
  "#2a323f",
  "#1d242e",
  "#151b23",
  "#0f141a",
];

export const theme = createTheme({
  primaryColor: "navy",
  colors: { navy, dark: slate },
  defaultRadius: "md",
  cursorType: "pointer",
  // Components that wait for the end of a transition would wait for ever where main.css has switched it off.
  respectReducedMotion: true,
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  headings: {
    fontWeight: "650",
    sizes: { h1: { fontSize: "1.375rem" }, h2: { fontSize: "1.2rem" }, h3: { fontSize: "1rem" } },
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

/** The tones as text colours, and what is read or looked for: each has a contrast of at least 4.5 on the page, and the tones on their own light badge. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--tone-good": "#1a6e2e",
    "--tone-progress": "#1c56b8",
    "--tone-warning": "#8a5300",
    "--tone-bad": "#b3261e",
    "--tone-unknown": "#545b64",
    "--mantine-color-dimmed": "#5c636b",
    "--mantine-color-placeholder": "#68707a",
    "--mantine-color-error": "#b3261e",
    "--page-background": "#f8f9fb",
    "--focus-ring": "#2e52ca",
    "--tab-line": "#2e52ca",
  },
  dark: {
    "--tone-good": "#69db7c",
    "--tone-progress": "#82b5ff",
    "--tone-warning": "#ffc65c",
    "--tone-bad": "#ff8f88",
    "--tone-unknown": "#adb5bd",
    "--mantine-color-dimmed": "#a8b1bf",
    "--mantine-color-placeholder": "#98a2b1",
    "--mantine-color-error": "#ff8f88",
    "--mantine-color-anchor": "#8ab0ff",
    "--page-background": "#11161d",
    "--focus-ring": "#8ab0ff",
    // The line under the chosen tab, which the filled colour of buttons hides in the dark.
    "--tab-line": "#8ab0ff",
  },
});
