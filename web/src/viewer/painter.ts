/** Paints pictures onto a canvas. A picture that is replaced while it waits is not decoded. */
export class Painter {
  private waiting: { jpeg: Blob; done: (painted: boolean) => void } | null = null;
  private busy = false;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** Resolves with whether it was painted. */
  paint(jpeg: Blob): Promise<boolean> {
    this.waiting?.done(false);
    return new Promise((done) => {
      this.waiting = { jpeg, done };
      if (!this.busy) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.busy = true;
    while (this.waiting !== null) {
      const { jpeg, done } = this.waiting;
      this.waiting = null;
      const picture = await decode(jpeg);
      if (picture !== null) draw(this.canvas, picture);
      if (picture !== null && "close" in picture) picture.close();
      done(picture !== null);
    }
    this.busy = false;
  }
}

/** A bitmap, or an image element where the browser has no bitmaps; null for invalid data. */
async function decode(jpeg: Blob): Promise<ImageBitmap | HTMLImageElement | null> {
  if ("createImageBitmap" in window) {
    const bitmap = await createImageBitmap(jpeg).catch(() => null);
    if (bitmap !== null) return bitmap;
  }
  const image = new Image();
  image.src = URL.createObjectURL(jpeg);
  const decoded = await image.decode().then(
    () => true,
    () => false,
  );
  URL.revokeObjectURL(image.src);
  return decoded ? image : null;
}

/** The canvas has the picture's size, so that no pixel is lost; the page scales it. */
function draw(target: HTMLCanvasElement, picture: ImageBitmap | HTMLImageElement): void {
  // Setting the size clears a canvas, so only set it if it differs, to avoid flicker.
  if (target.width !== picture.width) target.width = picture.width;
  if (target.height !== picture.height) target.height = picture.height;
  target.getContext("2d")?.drawImage(picture, 0, 0);
}
