import { ApiError, guard, refusal } from "./client";

export interface UploadOptions {
  signal: AbortSignal;
  /** Called with the number of bytes sent so far. */
  onProgress: (sent: number) => void;
  method?: "PUT" | "POST";
  /** The media type, if the server keeps it. */
  type?: string;
}

/** Uploads a file. Not with `fetch`, which does not report progress. */
export function upload(address: string, file: Blob, options: UploadOptions): Promise<void> {
  const { signal, onProgress, method = "PUT", type = "" } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open(method, address);
    for (const [name, value] of Object.entries(guard)) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", type || "application/octet-stream");
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => {
      if (request.status < 300) resolve();
      else void refusal(new Response(request.responseText, { status: request.status })).then(reject);
    };
    request.onerror = () => {
      reject(new ApiError(0, "unreachable", "The connection was lost. Check it and try again.", null));
    };
    request.onabort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}
