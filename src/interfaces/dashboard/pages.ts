/**
 * Serves the built dashboard from memory, and a development build from its folder. In: a path under
 * `/dashboard` and the accepted encodings. Out: a file, or the page for every other path. Called by
 * `interfaces/api/pages/pages.ts`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { acceptsGzip } from '../../lib/accept-encoding.ts'
import { PAGE_HEADERS } from './headers.ts'

export interface DashboardPage {
  status: number
  headers: Record<string, string> & { 'content-type': string }
  content: Uint8Array
}

export interface Pages {
  /**
   * @param path path under `/dashboard` without a final slash, or the path of the API reference
   * @param encodings value of the `Accept-Encoding` header
   * @returns undefined for a file that does not exist
   */
  find(path: string, encodings: string): DashboardPage | undefined
}

interface Asset {
  type: string
  plain: Uint8Array
  gzip: Uint8Array | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
/** File names contain a hash of their content. */
const FOR_EVER = 'public, max-age=31536000, immutable'
const ASSETS = '/dashboard/assets/'
/** Path of the API reference, which is built with the dashboard. */
const REFERENCE = '/docs'
/** Matches paths of files, as opposed to pages of the dashboard, whose names have no such ending. */
const FILE = /\.(?:m?js|css|map|json|txt|xml|html?|php|svg|png|jpe?g|gif|ico|webp|woff2?|webmanifest)$/i

/**
 * Opens the built dashboard. A development build is read anew for each request, since it is replaced while
 * the service runs.
 *
 * @param folder output of `scripts/build-dashboard.js`; without it, every page says that the dashboard is not
 * built
 */
export function openPages(folder: string): Pages {
  if (!existsSync(join(folder, 'development'))) return readPages(folder)
  return { find: (path, encodings) => readPages(folder).find(path, encodings) }
}

function readPages(folder: string): Pages {
  const page = readIfThere(join(folder, 'index.html'))
  if (page === undefined) return { find: () => NOT_BUILT }
  const compressedPage = readIfThere(join(folder, 'index.html.gz'))
  const assets = readAssets(join(folder, 'assets'))
  const index = { type: 'text/html; charset=utf-8', plain: page, gzip: compressedPage }
  const reference = {
    ...index,
    plain: readIfThere(join(folder, 'docs.html')) ?? page,
    gzip: readIfThere(join(folder, 'docs.html.gz')),
  }
  return {
    find(path, encodings) {
      if (path === REFERENCE) return pageOf(reference, encodings, { ...PAGE_HEADERS })
      if (!path.startsWith(ASSETS) && FILE.test(path)) return undefined
      if (!path.startsWith(ASSETS)) return pageOf(index, encodings, { ...PAGE_HEADERS })
      const asset = assets.get(path.slice(ASSETS.length))
      return asset && pageOf(asset, encodings, { 'cache-control': FOR_EVER })
    },
  }
}

function pageOf(
  { type, plain, gzip }: Asset,
  encodings: string,
  headers: Record<string, string>,
): DashboardPage {
  const isCompressed = gzip !== undefined && acceptsGzip(encodings)
  return {
    status: 200,
    headers: {
      ...headers,
      'content-type': type,
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    },
    content: isCompressed ? gzip : plain,
  }
}

function readAssets(folder: string): Map<string, Asset> {
  return new Map(
    readdirSync(folder)
      .filter(name => extname(name) in TYPES)
      .map(name => {
        const path = join(folder, name)
        const type = TYPES[extname(name)]!
        return [name, { type, plain: readFileSync(path), gzip: readIfThere(`${path}.gz`) }]
      }),
  )
}

function readIfThere(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const NOT_BUILT: DashboardPage = {
  status: 503,
  headers: { ...PAGE_HEADERS, 'content-type': 'text/html; charset=utf-8' },
  content: Buffer.from(
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Mailhorn</title></head><body>' +
      '<h1>The dashboard has not been built yet</h1><p>The service itself is running. Run <code>npm start</code>, which ' +
      'builds it, or <code>node scripts/build-dashboard.js</code>, and start the service anew.</p></body></html>\n',
  ),
}
