import { IconButton } from "./IconButton";

interface ErrorBannerProps {
  text: string | null;
  onDismiss: () => void;
}

/** An error message, until it is dismissed. */
export function ErrorBanner({ text, onDismiss }: ErrorBannerProps) {
  if (text === null) return null;
  return (
    <p className="banner" role="alert">
      {text}
      <IconButton icon="close" label="Dismiss" className="quiet" onClick={onDismiss} />
    </p>
  );
}
