import type { ButtonHTMLAttributes } from "react";
import { Icon, type IconName } from "./Icon";

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** What it does: the tooltip, and what a screen reader says. */
  label: string;
  /** Shown beside the icon where there is room. */
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
