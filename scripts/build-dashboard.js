/**
 * Builds the dashboard into `dist/dashboard` where its sources have changed since it was last built. With
 * `--development`, its pages reload when they are built again, and the service reads them anew for each request.
 * Plain JavaScript, because `npm start` runs it on whatever Node the host has.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { isStamped, replaceStamped, stampFor } from './stamped-folder.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'src/interfaces/dashboard/web')
const out = join(root, 'dist', 'dashboard')
/** What is bundled, or decides how: whole folders, and files. */
const SOURCES = [
  'src/interfaces/dashboard/web',
  'src/resources/templates',
  'src/protocols/mime/html',
  'scripts/build-dashboard.js',
  'scripts/stamped-folder.js',
  'package-lock.json',
]

/** The horn, as the tab shows it. */
const ICON = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#f2b90c"/>' +
    '<g fill="none" stroke="#1d1a14" stroke-width="2.6" stroke-linecap="round"><circle cx="15" cy="17.5" r="6.2"/>' +
    '<path d="M5 11.3h10M15 11.3c5 0 8-1.8 11-5v12c-2-2.6-3.2-3.6-5-4.2"/></g></svg>',
)

const isDevelopment = process.argv.includes('--development')
const RELOAD = isDevelopment ? `<script type="module" src="${address('reload.js')}"></script>` : ''
const wanted = stampFor(root, SOURCES) + (isDevelopment ? ' development' : '')
if (!isStamped(out, wanted)) {
  console.error('mailhorn: building the dashboard …')
  await replaceStamped(out, wanted, build)
}

async function build(fresh) {
  const { build: bundle } = await import('esbuild')
  mkdirSync(join(fresh, 'assets'))
  const common = {
    outdir: join(fresh, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.woff2': 'file' },
    bundle: true,
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    charset: 'utf8',
    metafile: true,
    absWorkingDir: root,
    tsconfig: join(web, 'tsconfig.json'),
    logLevel: 'error',
  }
  const { metafile } = await bundle({
    ...common,
    entryPoints: [join(web, 'main.tsx'), join(web, 'theme', 'first-paint.ts')],
    splitting: true,
    plugins: [{ name: 'one core', setup: makeOneCore }],
  })
  if (isDevelopment) {
    await bundle({ ...common, entryNames: '[name]', entryPoints: [join(web, 'reload.ts')] })
    writeFileSync(join(fresh, 'development'), '')
  }
  // a build of its own, so that the dashboard is not split further
  const reference = await bundle({ ...common, entryPoints: [join(web, 'reference', 'reference.tsx')] })
  const { script: early } = entryOf(metafile.outputs, 'theme/first-paint.ts')
  writeFileSync(join(fresh, 'index.html'), pageOf(metafile.outputs))
  writeFileSync(join(fresh, 'docs.html'), referencePageOf(reference.metafile.outputs, early))
  writeFileSync(join(fresh, 'first-load.json'), JSON.stringify(firstLoadOf(metafile.outputs)))
  const assets = readdirSync(join(fresh, 'assets')).filter(name => extname(name) !== '.woff2') // compressed as it is
  for (const path of ['index.html', 'docs.html', ...assets.map(name => join('assets', name))])
    writeFileSync(join(fresh, `${path}.gz`), gzipSync(readFileSync(join(fresh, path)), { level: 9 }))
}

/**
 * Lets each page import what is there before it. esbuild makes a chunk of all modules that the same entries
 * need, so that these become one chunk in place of ten, each of which is a request.
 */
function makeOneCore({ onLoad }) {
  onLoad({ filter: /[/\\]web[/\\]pages[/\\][^/\\]+\.tsx$/ }, ({ path }) => ({
    contents: `${readFileSync(path, 'utf8')}\nimport '../main.tsx'\n`,
    loader: 'tsx',
  }))
}

function pageOf(outputs) {
  const { core, style, early } = entriesOf(outputs)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Mailhorn</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,${ICON}">
<script src="${address(early)}" data-pages='${JSON.stringify(filesOfPages(outputs))}'></script>${RELOAD}
${fontPreload(outputs)}<link rel="stylesheet" href="${address(style)}">
<script type="module" src="${address(core)}"></script></head>
<body><div id="app"></div><noscript>The dashboard needs JavaScript. The API and the command line do without.</noscript></body></html>
`
}

/** Returns paths of pages, as regular expressions, with the files that each page loads besides the core. */
function filesOfPages(outputs) {
  const { core } = entriesOf(outputs)
  const source = readFileSync(join(web, 'shell', 'routes.tsx'), 'utf8')
  const routes = [...source.matchAll(/\[\s*'([^']+)',\s*lazy\([^']*import\('\.\.\/(pages\/[^']+)'\)/g)]
  if (routes.length !== source.split('lazy(').length - 1) throw new Error('a route was not understood')
  return routes.map(([, pattern, file]) => {
    const { script } = entryOf(outputs, file)
    const files = [script, ...staticImportsOf(outputs, script, new Set([core]))].filter(path => path !== core)
    return [`^/dashboard${pattern.replace(/:\w+/g, '[^/]+')}/?$`.replace('//', '/'), files.map(address)]
  })
}

/** All that a visitor loads before the first page is seen. */
function firstLoadOf(outputs) {
  const { core, style, early } = entriesOf(outputs)
  const { script: overview } = entryOf(outputs, 'pages/overview.tsx')
  const scripts = [core, overview, ...staticImportsOf(outputs, overview)]
  const fonts = Object.keys(outputs).filter(path => /-latin-wght.*\.woff2$/.test(path))
  return [...new Set([...scripts, style, early, ...fonts])].map(path => basename(path))
}

function entriesOf(outputs) {
  const { script, style } = entryOf(outputs, 'web/main.tsx')
  // the entry itself only imports the core
  const [core] = staticImportsOf(outputs, script)
  return { core, style, early: entryOf(outputs, 'theme/first-paint.ts').script }
}

function entryOf(outputs, ending) {
  const script = Object.keys(outputs).find(path => outputs[path].entryPoint?.endsWith(ending))
  return { script, style: outputs[script].cssBundle }
}

/** @param early script that runs before the first paint */
function referencePageOf(outputs, early) {
  const { script, style } = entryOf(outputs, 'reference/reference.tsx')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Mailhorn API reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,${ICON}">
<script src="${address(early)}"></script>${RELOAD}
${fontPreload(outputs)}<link rel="stylesheet" href="${address(style)}">
<script type="module" src="${address(script)}"></script></head>
<body><div id="app"></div><noscript>The reference needs JavaScript. The same is in <a href="/openapi.json">openapi.json</a>
and <a href="/llms.txt">llms.txt</a>.</noscript></body></html>
`
}

/** The font of all text, which is needed before the style sheet is read. */
function fontPreload(outputs) {
  const path = Object.keys(outputs).find(name => /geist-latin-wght.*\.woff2$/.test(name))
  return `<link rel="preload" href="${address(path)}" as="font" type="font/woff2" crossorigin>`
}

function staticImportsOf(outputs, path, known = new Set()) {
  for (const { path: imported, kind } of outputs[path].imports)
    if (kind === 'import-statement' && !known.has(imported)) {
      known.add(imported)
      staticImportsOf(outputs, imported, known)
    }
  return [...known]
}

function address(path) {
  return `/dashboard/assets/${basename(path)}`
}
