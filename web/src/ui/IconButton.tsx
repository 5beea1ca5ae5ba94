import type { ButtonHTMLAttributes } from "react";
import { Icon, type IconName } from "./Icon";

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** What it does: the tooltip and accessible name. */
  label: string;
  /** Shown beside the icon if there is room. */
  text?: string;
}

export function IconButton({ icon, label, text, className = "", ...rest }: IconButtonProps) {
  return (
    <button type="button" title={label} aria-label={label} className={`icon-button ${className}`} {...rest}>
      <Icon name={icon} />
      {text && <span className="label">{text}</span>}
    </button>
  );
}
