import { Menu } from "../ui/Menu";
import { Radios } from "../ui/Radios";
import type { Quality } from "../viewer/quality";

export const qualities: { quality: Quality; text: string; hint: string }[] = [
  { quality: "low", text: "Low", hint: "for slow connections" },
  { quality: "balanced", text: "Balanced", hint: "the usual" },
  { quality: "sharp", text: "Sharp", hint: "for fast networks" },
];

interface QualityMenuProps {
  quality: Quality;
  onChange: (quality: Quality) => void;
}

export function QualityMenu({ quality, onChange }: QualityMenuProps) {
  return (
    <Menu icon="quality" label="Picture quality">
      {() => (
        <Radios
          legend="Picture quality"
          chosen={quality}
          onChoose={onChange}
          choices={qualities.map(({ quality, text, hint }) => ({ value: quality, text, hint }))}
        />
      )}
    </Menu>
  );
}
