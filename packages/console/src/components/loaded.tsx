import { Alert, Button, Code, CopyButton, Group, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { IconAlertCircle, IconLock, IconMapSearch, IconPlugConnectedX } from "@tabler/icons-react";
import { type ComponentType, lazy, type ReactNode, Suspense } from "react";
import { failureOf, failureView, isSignedOut, isTransient } from "../api/failure.ts";

export interface Query<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  readonly failureCount?: number;
  readonly failureReason?: unknown;
  readonly refetch: () => unknown;
}

/**
 * Shows a read in all its states. While it cannot be read again, the last answer stays on screen under a line that says so; an
 * answer that access was lost, or that the object is gone, replaces it.
 */
export function Loaded<T>(props: {
  readonly of: Query<T>;
  readonly children: (data: T) => ReactNode;
  /** Shown while the first answer is awaited; it should have the shape of what comes, so that nothing jumps. */
  readonly skeleton?: ReactNode;
}) {
  const { of, children, skeleton } = props;
  const failure = failureOf(of);
  const keeps = isTransient(failure) || isSignedOut(failure);
  if (failure && (of.data === undefined || !keeps)) {
    return <FailurePanel error={failure} onRetry={() => void of.refetch()} isRepeated={!of.error} />;
  }
  if (of.data === undefined) return skeleton ?? <LoadingLines />;
  return (
    <>
      {failure && !isSignedOut(failure) ? <StaleLine error={failure} /> : null}
      {children(of.data)}
    </>
  );
}

/** The attributes of a placeholder for what is still being read. */
export const LOADING = { role: "status", "aria-busy": true, "aria-label": "Loading" } as const;

export function LoadingLines({ lines = 4 }: { readonly lines?: number }) {
  return (
    <Stack gap="sm" {...LOADING}>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} height={20} width={index % 3 === 2 ? "60%" : "100%"} />
      ))}
    </Stack>
  );
}

/** Cards that are still being read. */
export function PendingCards({ height }: { readonly height: number }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3, xl: 4 }} {...LOADING}>
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} height={height} radius="md" />
      ))}
    </SimpleGrid>
  );
}

/** A part of a page whose code is fetched when it is shown for the first time. */
export function lazily<P extends object>(
  load: () => Promise<ComponentType<P>>,
  fallback: ReactNode = <LoadingLines lines={6} />,
): ComponentType<P> {
  const Part = lazy(async () => ({ default: await load() })) as unknown as ComponentType<P>;
  return (props) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  );
}

function StaleLine({ error }: { readonly error: unknown }) {
  const { title } = failureView(error);
  return (
    <Text size="sm" c="var(--tone-warning)" role="status" mb="xs">
      {title}. You see the last answer; it is asked for again.
    </Text>
  );
}

const ICONS = { missing: IconMapSearch, forbidden: IconLock, offline: IconPlugConnectedX } as const;

/** An error in the API's own words, with the id by which the server's logs know the request. */
export function FailurePanel(props: {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Where it is asked for again without anybody doing something. */
  readonly isRepeated?: boolean;
  /** Takes the place of the API's own message, where fields of a form show it. */
  readonly detail?: string | undefined;
}) {
  const { error, onRetry, isRepeated = false } = props;
  const { kind, title, detail, requestId } = failureView(error);
  const Icon = ICONS[kind as keyof typeof ICONS] ?? IconAlertCircle;
  return (
    <Alert
      color={kind === "missing" ? "gray" : "red"}
      icon={<Icon aria-hidden />}
      title={title}
      variant="light"
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {props.detail ?? detail} {isRepeated ? "It is asked again by itself." : null}
        </Text>
        {kind === "missing" || kind === "forbidden" || isRepeated || !onRetry ? null : (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        {requestId ? <RequestId id={requestId} /> : null}
      </Stack>
    </Alert>
  );
}

function RequestId({ id }: { readonly id: string }) {
  return (
    <Group gap={6}>
      <Text size="xs" c="dimmed">
        Request <Code>{id}</Code>
      </Text>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="subtle" onClick={copy}>
            {copied ? "Copied" : "Copy"}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
