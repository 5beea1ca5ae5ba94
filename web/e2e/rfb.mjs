// A viewer that violates the protocol: it completes the handshake and then sends arbitrary messages.

import { WebSocket } from "ws";
import { patience } from "./until.mjs";

export class RawViewer {
  #socket;
  #received = Buffer.alloc(0);
  #wake = () => {};

  /** Connects with a ticket and completes the handshake. */
  static async connect(server, desk, ticket, query = "") {
    const viewer = new RawViewer();
    const url = new URL(`api/v1/sessions/${desk.id}/vnc?ticket=${ticket}${query}`, server.url);
    url.protocol = "ws:";
    viewer.#socket = new WebSocket(url, "binary");
    viewer.#socket.on("message", (message) => {
      viewer.#received = Buffer.concat([viewer.#received, message]);
      viewer.#wake();
    });
    await new Promise((resolve, reject) => {
      viewer.#socket.on("open", resolve);
      viewer.#socket.on("error", reject);
    });
    await viewer.#read(12);
    viewer.send(Buffer.from("RFB 003.008\n"));
    const [count] = await viewer.#read(1);
    await viewer.#read(count);
    viewer.send([1]); // no further security
    await viewer.#read(4);
    viewer.send([1]); // others may watch too
    const init = await viewer.#read(24);
    viewer.size = { width: init.readUInt16BE(0), height: init.readUInt16BE(2) };
    await viewer.#read(init.readUInt32BE(20));
    return viewer;
  }

  send(bytes) {
    this.#socket.send(Buffer.from(bytes));
  }

  key(keysym, down) {
    this.send([4, down, 0, 0, ...be32(keysym)]);
  }

  pointer(x, y, buttons) {
    this.send([5, buttons, ...be16(x), ...be16(y)]);
  }

  /** QEMU's key message, which contains a key code besides the symbol. */
  extendedKey(keysym, keycode, down) {
    this.send([255, 0, 0, down, ...be32(keysym), ...be32(keycode)]);
  }

  cutText(text) {
    this.send([6, 0, 0, 0, ...be32(text.length), ...Buffer.from(text, "latin1")]);
  }

  /** Sends every kind of input, at a point of the screen. */
  meddle(x, y) {
    this.#encodings([0, -258]); // raw pictures, QEMU's keys
    for (const down of [1, 0]) this.key("k".charCodeAt(0), down);
    for (const down of [1, 0]) this.extendedKey("q".charCodeAt(0), 0x10, down);
    for (const buttons of [0, 1, 0]) this.pointer(x, y, buttons);
    this.cutText("meddled");
  }

  /** Resolves once everything sent before was processed: messages are answered in order. */
  async settled() {
    this.#received = Buffer.alloc(0);
    this.send([3, 0, ...be16(0), ...be16(0), ...be16(1), ...be16(1)]);
    await this.#read(4);
  }

  close() {
    this.#socket.close();
  }

  #encodings(list) {
    this.send([2, 0, ...be16(list.length), ...list.flatMap((encoding) => be32(encoding))]);
  }

  async #read(count) {
    const end = performance.now() + patience;
    while (this.#received.length < count) {
      if (performance.now() > end) throw new Error(`only ${this.#received.length} of ${count} bytes came`);
      await new Promise((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 200);
      });
    }
    const part = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return part;
  }
}

function be16(number) {
  return [(number >> 8) & 255, number & 255];
}

function be32(number) {
  return [(number >>> 24) & 255, (number >>> 16) & 255, (number >>> 8) & 255, number & 255];
}
