import { describe, expect, it } from "vitest";
import { copyName, fileAddress, folderName, freeNames, join, wayTo } from "../src/session/files";
import { changeUploads, inOrder, summaryOf, type Upload } from "../src/session/uploads";

describe("paths of a session", () => {
  it("begin at its home", () => {
    expect(join("", "a.txt")).toBe("a.txt");
    expect(join("Desktop/new", "a.txt")).toBe("Desktop/new/a.txt");
    expect(wayTo("")).toEqual([""]);
    expect(wayTo("a/b c/d")).toEqual(["", "a", "a/b c", "a/b c/d"]);
    expect(folderName("")).toBe("Home");
    expect(folderName("a/b c")).toBe("b c");
  });

  it("survive in an address, whatever is in them", () => {
    const below = new URL("https://host/deck/");
    expect(fileAddress("s1", "Desktop/50% Größe #1?.txt", below)).toBe(
      "https://host/deck/api/v1/sessions/s1/files/Desktop/50%25%20Gr%C3%B6%C3%9Fe%20%231%3F.txt",
    );
    const path = new URL(fileAddress("s1", "a&b+c=d;'\"\\:@.txt", below)).pathname;
    expect(decodeURIComponent(path.slice(path.lastIndexOf("/") + 1))).toBe("a&b+c=d;'\"\\:@.txt");
  });
});

describe("the name of a copy", () => {
  it("keeps the ending", () => {
    expect(copyName("a.txt", 1)).toBe("a (1).txt");
    expect(copyName("a b.c.pdf", 12)).toBe("a b.c (12).pdf");
    expect(copyName("backup.tar.gz", 1)).toBe("backup (1).tar.gz");
    expect(copyName("Makefile", 2)).toBe("Makefile (2)");
    expect(copyName(".profile", 1)).toBe(".profile (1)");
    expect(copyName(".config.json", 1)).toBe(".config (1).json");
    expect(copyName("Dr. Who", 1)).toBe("Dr. Who (1)");
    expect(copyName("end.", 1)).toBe("end. (1)");
  });

  it("is the first that is free", () => {
    const first = (name: string, ...taken: string[]) => freeNames(name, new Set(taken)).next().value;
    expect(first("a.txt")).toBe("a.txt");
    expect(first("a.txt", "a.txt")).toBe("a (1).txt");
    expect(first("a.txt", "a.txt", "a (1).txt", "a (3).txt")).toBe("a (2).txt");
  });
});

describe("uploads", () => {
  const upload = (id: number, state: Upload["state"]): Upload => ({
    id,
    file: null,
    name: `${id}`,
    folder: "",
    state,
    sent: 0,
    trouble: "",
  });

  it("are summed up", () => {
    const after = (...states: Upload["state"][]) => summaryOf(states.map((state, id) => upload(id, state)));
    expect(after("sending")).toBe("Uploading");
    expect(after("done", "sending", "waiting")).toBe("Uploading 2 of 3");
    expect(after("failed", "sending", "waiting")).toBe("Uploading 1 of 2");
    expect(after("done", "done")).toBe("Uploaded");
    expect(after("failed")).toBe("Not uploaded");
    expect(after("failed", "done")).toBe("1 of 2 not uploaded");
  });

  it("show first what is under way, and last what arrived", () => {
    const all = [upload(1, "done"), upload(2, "waiting"), upload(3, "failed"), upload(4, "sending")];
    expect(inOrder(all).map(({ id }) => id)).toEqual([4, 3, 2, 1]);
  });

  it("are forgotten when they arrived, not when they failed", () => {
    const more = [upload(2, "sending"), upload(3, "waiting")];
    const all = changeUploads([upload(1, "done")], { kind: "add", uploads: more });
    const failed = changeUploads(all, { kind: "edit", id: 2, edit: { state: "failed", trouble: "no room" } });
    const left = changeUploads(changeUploads(failed, { kind: "drop", id: 3 }), { kind: "clear" });
    expect(left).toMatchObject([{ id: 2, state: "failed", trouble: "no room" }]);
  });
});
