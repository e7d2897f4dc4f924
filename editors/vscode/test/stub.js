// The host's API as far as the client uses it, and a client of the protocol that notes what it is asked.

const sent = [];
const state = {
  reset() {
    sent.length = 0;
    Object.assign(state, { commands: new Map(), panels: [], errors: [], input: "", command: ["ptosim", "lsp"], granted: undefined });
    host.workspace.isTrusted = true;
  },
};

const document = { uri: { toString: () => "file:///k.pto", path: "/k.pto" }, languageId: "pto", save: async () => true };
const disposable = { dispose() {} };

const host = {
  ProgressLocation: { Window: 10 },
  ViewColumn: { Beside: -2 },
  commands: {
    registerCommand(name, run) {
      state.commands.set(name, run);
      return disposable;
    },
  },
  workspace: {
    isTrusted: true,
    workspaceFolders: undefined,
    getConfiguration: () => ({ get: () => state.command }),
    onDidGrantWorkspaceTrust(listener) {
      state.granted = listener;
      return disposable;
    },
    onDidChangeConfiguration: () => disposable,
  },
  window: {
    activeTextEditor: { document },
    showErrorMessage: async (words) => void state.errors.push(words),
    showInputBox: async () => state.input,
    setStatusBarMessage: () => disposable,
    withProgress: (options, task) => task(),
    createWebviewPanel() {
      state.panels.push({ webview: { html: "" } });
      return state.panels.at(-1);
    },
  },
};

class LanguageClient {
  code2ProtocolConverter = { asUri: (uri) => uri.toString() };

  constructor(id, name, server, options) {
    this.server = server;
    this.options = options;
  }

  async start() {
    if (this.server.command !== "ptosim") {
      throw new Error("spawn ENOENT");
    }
    sent.push({ method: "initialize", params: this.options.initializationOptions });
  }

  async stop() {
    sent.push({ method: "shutdown" });
  }

  async sendRequest(method, params) {
    sent.push({ method, params });
    return { ok: true, result: {}, html: `<html>${params.command.split(".")[1]}</html>` };
  }
}

module.exports = { host, languageClient: { LanguageClient }, sent, state };
