// Compiles the TypeScript of src as it is loaded, and starts it.
'use strict';
require('ts-node').register({
  transpileOnly: true,
  ignore: [/node_modules/],
  compilerOptions: { target: 'es2022', module: 'commonjs', moduleResolution: 'node', experimentalDecorators: true, emitDecoratorMetadata: true, esModuleInterop: true },
});
require('./src/main.ts');
