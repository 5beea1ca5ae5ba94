import { describe, expect, it } from "vitest";
import { iconOf, previewOf, sourceName, typeName } from "../src/artifacts/kind";

const artifact = (content_type: string, filename = "a", size = 10) => ({ content_type, filename, size });

describe("previews", () => {
  it("show pictures and videos that the server sends as such", () => {
    expect(previewOf(artifact("image/png"))).toBe("image");
    expect(previewOf(artifact("IMAGE/JPEG; q=1"))).toBe("image");
    expect(previewOf(artifact("video/mp4"))).toBe("video");
  });

  it("show what a browser could run as text only", () => {
    for (const type of ["text/html", "image/svg+xml", "text/javascript", "application/json"]) {
      expect(previewOf(artifact(type)), type).toBe("text");
    }
  });

  it("are an icon for other, empty and very large files", () => {
    expect(previewOf(artifact("application/zip"))).toBe("icon");
    expect(previewOf(artifact("text/plain", "a", 0))).toBe("icon");
    expect(previewOf(artifact("image/png", "a", 21 << 20))).toBe("icon");
    expect(iconOf(artifact("image/x-icon"))).toBe("picture");
    expect(iconOf(artifact("application/pdf"))).toBe("file");
  });
});

describe("names", () => {
  it("of types are those of the file name, or of the media type", () => {
    expect(typeName(artifact("application/pdf", "report.final.pdf"))).toBe("PDF");
    expect(typeName(artifact("image/png", "screenshot"))).toBe("PNG");
  });

  it("of sources say that a file was uploaded", () => {
    expect(sourceName("operator-uploads")).toBe("Upload");
    expect(sourceName("browser.screenshot_url")).toBe("browser.screenshot_url");
  });
});
