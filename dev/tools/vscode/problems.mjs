// Collects the problems that VS Code finds in the output of a task, by the code of VS Code that reads problem matchers.
//
//	node problems.mjs FOLDER-WITH-node_modules tasks.json LABEL WORKSPACE <OUTPUT
//
// Prints a JSON array of markers: file, code, message, severity, line. What VS Code has against a matcher is an error.
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [home, file, label, workspace] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(home, "node_modules/@codingame", name)).href);
const tasks = "vscode/src/vs/workbench/contrib/tasks/common/";
const { ProblemMatcherParser } = await load(`monaco-vscode-api/${tasks}problemMatcher.js`);
const { StartStopProblemCollector } = await load(`monaco-vscode-task-service-override/${tasks}problemCollectors.js`);
const { ValidationStatus } = await load("monaco-vscode-api/vscode/src/vs/base/common/parsers.js");

const task = JSON.parse(readFileSync(file, "utf8")).tasks.find((t) => t.label === label);
const faults = [];
const report = (text) => faults.push(text);
const parser = new ProblemMatcherParser({ status: new ValidationStatus(), info: report, warn: report, error: report, fatal: report });
const where = (text) => text.replaceAll("${workspaceFolder}", workspace);
const matchers = [task.problemMatcher].flat().map((m) => parser.parse({ ...m, fileLocation: m.fileLocation?.map(where) }));
if (faults.length || matchers.some((m) => !m)) {
  console.error(faults.join("\n") || "VS Code does not understand the problem matcher");
  process.exit(1);
}

const markers = [];
const markerService = { read: () => [], remove: () => {}, changeOne: (_owner, uri, all) => markers.push(...all.map((m) => ({ file: uri.fsPath, code: m.code, message: m.message, severity: m.severity, line: m.startLineNumber }))) };
const modelService = { onModelAdded: () => ({ dispose() {} }), onModelRemoved: () => ({ dispose() {} }), getModels: () => [] };
const collector = new StartStopProblemCollector(matchers, markerService, modelService, undefined, {}, { trace() {}, error: report });
for (const line of readFileSync(0, "utf8").split("\n")) collector.processLine(line);
await collector.tail;
collector.done();
console.log(JSON.stringify(markers));
process.exit(0); // VS Code's code has timers
