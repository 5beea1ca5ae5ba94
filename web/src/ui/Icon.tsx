/** Line icons on a 20 × 20 grid, drawn for these pages. */
const paths = {
  actual: "M3 5.5h14v9H3zM7.2 8v4M12.8 8v4M10 9v.01M10 11.2v.01",
  agent: "M4.5 8h11v7.5h-11zM10 8V4.5M7.8 11.5v.8M12.2 11.5v.8M10 4.4v.01",
  auto: "M10 3.2a6.8 6.8 0 1 0 0 13.6zM10 3.2a6.8 6.8 0 0 1 0 13.6",
  back: "M11.5 4.5 6 10l5.5 5.5M6.5 10H16",
  camera: "M3 6.5h3.4l1.2-2h4.8l1.2 2H17v9H3zM10 8.3a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2z",
  check: "m4.5 10.5 3.6 3.6 7.4-8",
  clipboard: "M5 4.5h10v12.5H5zM7.8 3h4.4v3H7.8z",
  clock: "M10 3.2a6.8 6.8 0 1 0 0 13.6 6.8 6.8 0 0 0 0-13.6zM10 6.2V10l2.6 1.8",
  close: "m5 5 10 10M15 5 5 15",
  copy: "M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7",
  dark: "M15.8 12.2A6.5 6.5 0 0 1 7.8 4.2a6.5 6.5 0 1 0 8 8z",
  down: "m5.5 8 4.5 4.5L14.5 8",
  drag: "M4.5 15.5c0-6 11-5 11-11M4.5 15.5v.01M13 6.5l2.5-2.5 2 3",
  end: "M10 3v7M6 5.3a6.6 6.6 0 1 0 8 0",
  fit: "M3 4.5h14v11H3zM6 9.5V7.5h2M14 10.5v2h-2",
  full: "M3.5 7.5v-4h4M16.5 7.5v-4h-4M3.5 12.5v4h4M16.5 12.5v4h-4",
  hand: "M6.5 10.5V5.2a1.2 1.2 0 0 1 2.4 0v3.6-5a1.2 1.2 0 0 1 2.4 0v5-4a1.2 1.2 0 0 1 2.4 0v6.7c0 3-1.6 5.3-4.4 5.3-2.3 0-3.2-1-4.3-3.1l-1.6-3a1.1 1.1 0 0 1 1.8-1.2z",
  key: "M3 6h14v8.5H3zM6 11.8h8M6 9v.01M8.7 9v.01M11.3 9v.01M14 9v.01",
  keycap: "M4 4h12v12H4zM10 13V7.5M7.6 9.7 10 7.3l2.4 2.4",
  leave: "M8 4H4v12h4M8.5 10H16M13 6.8l3.2 3.2-3.2 3.2",
  light: "M10 6.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8zM10 2.5v1.6M10 15.9v1.6M2.5 10h1.6M15.9 10h1.6M4.7 4.7l1.1 1.1M14.2 14.2l1.1 1.1M15.3 4.7l-1.1 1.1M5.8 14.2l-1.1 1.1",
  link: "M8.5 11.5 11.5 8.5M9.5 6l1.7-1.7a3.2 3.2 0 0 1 4.5 4.5L14 10.5M10.5 14l-1.7 1.7a3.2 3.2 0 0 1-4.5-4.5L6 9.5",
  more: "M5 10v.01M10 10v.01M15 10v.01",
  panel: "M3 4.5h14v11H3zM12.2 4.5v11",
  person: "M10 4a2.9 2.9 0 1 0 0 5.8A2.9 2.9 0 0 0 10 4zM4.2 16.5c.5-3 2.7-4.6 5.8-4.6s5.3 1.6 5.8 4.6",
  plus: "M10 4.5v11M4.5 10h11",
  pointer: "M5.5 3.5 15.5 9l-4.3 1.3 2.8 4.5-1.7 1-2.7-4.5L6.3 14z",
  quality: "M4 6.5h6.5M14.5 6.5H16M4 13.5h1.5M9.5 13.5H16M12.5 4.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7.5 11.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  resize: "M3 4.5h14v11H3zM10.5 11l3 2.5M13.8 11v2.7H11M9.5 9 6.5 6.5M6.2 9V6.3H9",
  retry: "M15.5 7A6.3 6.3 0 1 0 16.3 10M16 3.5V7h-3.5",
  scroll: "M7 4.2h6v11.6H7zM10 6.5v3M8.5 12l1.5 1.7 1.5-1.7",
  terminal: "M3 4.5h14v11H3zM6 8l2.2 2L6 12M10 12.2h3.5",
  type: "M5 6.5V4.5h10v2M10 4.5v11M7.5 15.5h5",
  window: "M3 4.5h14v11H3zM3 7.8h14",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" data-icon={name} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
