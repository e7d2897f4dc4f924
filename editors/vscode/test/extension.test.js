// The client against a stub of the host: what it contributes, and what its commands ask the server.

const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const { test } = require("node:test");

const root = path.join(__dirname, "..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const { host, languageClient, sent, state } = require("./stub");

const load = Module._load;
const stubs = { vscode: host, "vscode-languageclient/node": languageClient };
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
const extension = require("../dist/tested.js");

const context = (kept = new Map()) => ({
  subscriptions: [],
  workspaceState: {
    get: (key, otherwise) => kept.get(key) ?? otherwise,
    update: async (key, value) => kept.set(key, value),
  },
});

test("every command of the manifest is registered, and no other", async () => {
  state.reset();
  await extension.activate(context());
  const declared = manifest.contributes.commands.map((each) => each.command).sort();
  assert.deepStrictEqual([...state.commands.keys()].sort(), declared);
  await extension.deactivate();
});

test("a check sends the file and the words, and remembers them", async () => {
  state.reset();
  const words = new Map();
  await extension.activate(context(words));
  state.input = "rand:24x128 zeros:24x128  24";
  await state.commands.get("ptosim.checkKernel")();
  const asked = sent.filter((message) => message.method === "workspace/executeCommand").pop();
  assert.deepStrictEqual(asked.params, {
    command: "ptosim.check",
    arguments: ["file:///k.pto", "rand:24x128", "zeros:24x128", "24"],
  });
  assert.deepStrictEqual([...words.values()], ["rand:24x128 zeros:24x128  24"]);
  await extension.deactivate();
});

test("a profile is shown in a panel, an escape asks nothing", async () => {
  state.reset();
  await extension.activate(context());
  state.input = "";
  await state.commands.get("ptosim.profileKernel")();
  assert.deepStrictEqual(state.panels.map((panel) => panel.webview.html), ["<html>profile</html>"]);
  state.input = undefined;
  await state.commands.get("ptosim.profileKernel")();
  assert.strictEqual(state.panels.length, 1);
  await extension.deactivate();
});

test("the server learns whether the workspace is trusted, and starts anew when it becomes so", async () => {
  state.reset();
  host.workspace.isTrusted = false;
  await extension.activate(context());
  const begun = () => sent.filter((each) => each.method === "initialize").map((each) => each.params);
  assert.deepStrictEqual(begun(), [{ trusted: false }]);
  host.workspace.isTrusted = true;
  await state.granted();
  assert.deepStrictEqual(begun(), [{ trusted: false }, { trusted: true }]);
  await extension.deactivate();
});

test("a server that is not there is one message", async () => {
  state.reset();
  state.command = ["/nothing/ptosim", "lsp"];
  await extension.activate(context());
  assert.match(state.errors.pop(), /pip install 'ptosim\[lsp\]'/);
  await extension.deactivate();
});

test("the problem matcher reads what ptosim prints", () => {
  const [matcher] = manifest.contributes.problemMatchers;
  const line = "softmax.pto:132:7: error: race: MTE3 may read ub[32768:36864] before V has written it";
  const found = line.match(new RegExp(matcher.pattern.regexp));
  assert.deepStrictEqual(found.slice(1, 6), ["softmax.pto", "132", "7", "error", "race"]);
});

test("the grammar colours a kernel, in a file and in a fence of Markdown", async () => {
  const { createOnigScanner, createOnigString, loadWASM } = require("vscode-oniguruma");
  const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");
  await loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const paths = Object.fromEntries(manifest.contributes.grammars.map((each) => [each.scopeName, each.path]));
  const registry = new Registry({
    onigLib: Promise.resolve({ createOnigScanner, createOnigString }),
    loadGrammar: async (scope) => {
      const file = path.join(root, paths[scope]);
      return parseRawGrammar(readFileSync(file, "utf8"), file);
    },
  });
  const scopes = (grammar, line, stack = INITIAL) =>
    grammar.tokenizeLine(line, stack).tokens.map((token) => [line.slice(token.startIndex, token.endIndex), token.scopes.at(-1)]);
  const grammar = await registry.loadGrammar("source.pto");
  const found = Object.fromEntries(scopes(grammar, '%v = pto.vlds %in[%c0] {dist = "NORM"} : !pto.ptr<f32, ub> // load'));
  assert.strictEqual(found["pto.vlds"], "support.function.pto");
  assert.strictEqual(found["%in"], "variable.other.pto");
  assert.strictEqual(found["!pto.ptr"], "storage.type.pto");
  assert.strictEqual(found["// load"], "comment.line.double-slash.pto");
  const fenced = await registry.loadGrammar("markdown.pto.codeblock");
  const inside = fenced.tokenizeLine("```pto", INITIAL).ruleStack;
  assert.deepStrictEqual(scopes(fenced, "pto.barrier_all", inside).pop(), ["pto.barrier_all", "support.function.pto"]);
});
