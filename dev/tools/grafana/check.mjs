// Holds a Grafana dashboard against the types of @grafana/schema, the schema that Grafana's own code is generated from.
//
//	node check.mjs FOLDER-WITH-node_modules DASHBOARD.json
//
// The document becomes an object literal of TypeScript, of which the compiler says what is missing, of another type, or not
// known. Enumerations are their values: that is what JSON holds. Prints a line for each fault, and exits with 1 if there is any.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const [home, file] = process.argv.slice(2);
const require = createRequire(path.join(home, "node_modules", "here.cjs"));
const ts = require("typescript");
const text = readFileSync(file, "utf8");

// Panels are held against the options and field options of their kind, too.
const kinds = { timeseries: ["Options", "FieldConfig"] };
const parts = JSON.parse(text).panels.flatMap((p) => (kinds[p.type] ? [[p.type, p.options, p.fieldConfig?.defaults?.custom]] : []));
const source = `
import type { Dashboard } from "@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen";
import type * as timeseries from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";
type Plain<T> =
  T extends string ? \`\${T}\` :
  T extends number ? (number extends T ? number : \`\${T}\` extends \`\${infer N extends number}\` ? N : never) :
  T extends (infer U)[] ? Plain<U>[] :
  T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
export const dashboard: Plain<Dashboard> = ${text};
${parts.map(([kind, options, custom], i) => `export const options${i}: Plain<${kind}.Options> = ${JSON.stringify(options)};
export const custom${i}: Plain<${kind}.FieldConfig> = ${JSON.stringify(custom)};`).join("\n")}
`;
const name = path.join(home, "dashboard.ts");
const options = { strict: true, noEmit: true, skipLibCheck: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [], target: ts.ScriptTarget.ES2022 };
const host = ts.createCompilerHost(options);
const read = host.getSourceFile.bind(host);
host.getSourceFile = (f, ...rest) => (f === name ? ts.createSourceFile(f, source, ts.ScriptTarget.ES2022) : read(f, ...rest));
const exists = host.fileExists.bind(host);
host.fileExists = (f) => f === name || exists(f);
const all = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host));
for (const d of all) {
  const at = d.file ? d.file.getLineAndCharacterOfPosition(d.start) : undefined;
  console.log(`${at ? `line ${at.line + 1 - 10}: ` : ""}${ts.flattenDiagnosticMessageText(d.messageText, "\n")}`);
}
process.exit(all.length > 0 ? 1 : 0);
