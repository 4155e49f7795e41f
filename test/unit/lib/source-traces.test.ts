import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { sourcePlacesOf } from '../../../scripts/source-places.ts'
import { inSources } from '../../../src/lib/source-traces.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/source-traces')

const BUNDLE = 'file:///srv/build/main.js'
const SOURCES: Record<string, string> = {
  '/one.ts': `
    import { second } from '/two.ts'
    type Nothing = { of: 'this' }

    export function first(wanted: Nothing | null) {
      return wanted === null ? second('marked 5') : [
        second('marked 7'),
        'äöü ✓', second('marked 8'),
      ]
    }
    first(null)`,
  '/two.ts': `

    export const second = (value: string) => {
      throw new Error(\`\${value}
        marked 5\`)
    }`,
}

/** Bundles sources in memory with the options of `scripts/build-service.js`. */
async function bundled() {
  const { outputFiles } = await build({
    entryPoints: ['/one.ts'],
    outfile: '/srv/build/main.js',
    write: false,
    bundle: true,
    format: 'esm',
    charset: 'ascii',
    sourcemap: 'external',
    banner: { js: '// of ours' },
    plugins: [
      {
        name: 'memory',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /./ }, ({ path }) => ({ path, namespace: 'memory' }))
          onLoad({ filter: /./ }, ({ path }) => ({ contents: SOURCES[path]!, loader: 'ts' }))
        },
      },
    ],
  })
  const [map, code] = outputFiles.toSorted((a, b) => b.path.length - a.path.length).map(({ text }) => text)
  return { code: code!, places: sourcePlacesOf(JSON.parse(map!)) }
}

/** Line and column of a text, both from 1, as the runtime counts them. */
function placeOf(text: string, code: string): string {
  const before = code.slice(0, code.indexOf(text)).split('\n')
  return `${before.length}:${before.at(-1)!.length + 1}`
}

const { code, places } = await bundled()
const placesOf = (url: string) => (url === BUNDLE ? places : undefined)

test('source traces: a frame in a bundle is mapped to its source file and line', () => {
  for (const [text, where] of [
    ['second("marked 5")', 'one.ts:6'],
    ['second("marked 7")', 'one.ts:7'],
    ['second("marked 8")', 'one.ts:8'],
    ['first(null)', 'one.ts:11'],
    ['new Error', 'two.ts:4'],
  ] as const) {
    const frame = `async first (${BUNDLE}:${placeOf(text, code)})`
    assert.is(inSources(frame, '/srv', placesOf), `async first (file:///srv/memory:/${where})`, text)
  }
})

test('source traces: a frame without a function is mapped', () => {
  const frame = `${BUNDLE}:${placeOf('first(null)', code)}`
  assert.is(inSources(frame, '/srv', placesOf), 'file:///srv/memory:/one.ts:11')
})

test('source traces: a frame before all sources or in no bundle stays unchanged', () => {
  for (const frame of [
    `${BUNDLE}:1:1`,
    'ModuleJob.run (node:internal/modules/esm/module_job:561:25)',
    'read (file:///srv/node_modules/reader/index.js:3:5)',
    'async Promise.all (index 0)',
    'native',
  ])
    assert.is(inSources(frame, '/srv', placesOf), frame)
})

test.run()
