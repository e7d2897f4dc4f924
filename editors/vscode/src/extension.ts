// The client of `ptosim lsp`: it starts the server, and shows what its commands return.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

interface Answer {
  ok: boolean;
  result: unknown;
  html: string | null;
}

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const register = (name: string, run: () => Promise<void>) =>
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  register("ptosim.checkKernel", () => check(context));
  register("ptosim.profileKernel", () => page(context, "profile", "Profile of"));
  register("ptosim.showPlan", () => page(context, "plan", "Plan of"));
  register("ptosim.restart", restart);
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(restart));
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("ptosim.command")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

async function start(): Promise<void> {
  const [command, ...args] = vscode.workspace.getConfiguration("ptosim").get<string[]>("command", []);
  if (!command) {
    void vscode.window.showErrorMessage("ptosim.command names no program: write [\"ptosim\", \"lsp\"]");
    return;
  }
  const server: ServerOptions = { command, args, options: { cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath } };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "pto" }, { scheme: "file", language: "python" }, { scheme: "file", language: "cpp" }],
    initializationOptions: { trusted: vscode.workspace.isTrusted },
  };
  client = new LanguageClient("ptosim", "ptosim", server, options);
  try {
    await client.start();
  } catch (reason) {
    client = undefined;
    void vscode.window.showErrorMessage(`${command} did not start (${reason}); pip install 'ptosim[lsp]', or set ptosim.command`);
  }
}

/** Ask for the arguments of a launch, those of the last time first; nothing for arguments that are made up. */
async function words(context: vscode.ExtensionContext, document: vscode.TextDocument): Promise<string[] | undefined> {
  const key = `arguments:${document.uri.toString()}`;
  const said = await vscode.window.showInputBox({
    title: "Arguments of the kernel",
    prompt: "rand:24x128 zeros:24x128 24 --grid 3; empty: they are made up",
    value: context.workspaceState.get<string>(key, ""),
  });
  if (said === undefined) {
    return undefined;
  }
  await context.workspaceState.update(key, said);
  return said.split(/\s+/).filter((word) => word);
}

async function ask(command: string, document: vscode.TextDocument, args: string[]): Promise<Answer | null> {
  if (!client) {
    void vscode.window.showErrorMessage("the server of ptosim is not running");
    return null;
  }
  if (document.languageId !== "pto") {
    await document.save();
  }
  const running = client;
  const uri = running.code2ProtocolConverter.asUri(document.uri);
  const params = { command: `ptosim.${command}`, arguments: [uri, ...args] };
  const task = () => running.sendRequest<Answer | null>("workspace/executeCommand", params);
  const location = vscode.ProgressLocation.Window;
  return vscode.window.withProgress({ location, title: `ptosim ${command}` }, task);
}

async function check(context: vscode.ExtensionContext): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const args = document && (await words(context, document));
  const answer = document && args && (await ask("check", document, args));
  if (answer) {
    void vscode.window.setStatusBarMessage(answer.ok ? "ptosim: no errors" : "ptosim: errors, see Problems", 5000);
  }
}

async function page(context: vscode.ExtensionContext, command: string, title: string): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const args = document && (command === "plan" ? [] : await words(context, document));
  const answer = document && args && (await ask(command, document, args));
  if (!document || !answer) {
    return;
  }
  if (!answer.html) {
    void vscode.window.showErrorMessage(`ptosim ${command} drew nothing: see Problems`);
    return;
  }
  const name = document.uri.path.split("/").pop();
  const beside = vscode.ViewColumn.Beside;
  const panel = vscode.window.createWebviewPanel(`ptosim.${command}`, `${title} ${name}`, beside, { enableScripts: true });
  panel.webview.html = answer.html;
}
