import { ActionIcon, Button } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";

/** For the rows of a form that has a list. */

export const RemoveButton = ({ label, onClick }: { readonly label: string; readonly onClick: () => void }) => (
  <ActionIcon variant="subtle" color="gray" mt={4} aria-label={label} onClick={onClick}>
    <IconX size={16} aria-hidden />
  </ActionIcon>
);

export const AddButton = ({ label, onClick }: { readonly label: string; readonly onClick: () => void }) => (
  <Button
    size="compact-xs"
    variant="subtle"
    leftSection={<IconPlus size={12} aria-hidden />}
    onClick={onClick}
    style={{ alignSelf: "flex-start" }}
  >
    {label}
  </Button>
);
