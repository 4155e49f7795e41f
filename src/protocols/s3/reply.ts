/** Reads the XML replies of S3: lists and errors. Only elements without attributes or nesting are needed. */

export interface S3Page {
  keys: string[]
  /** Beginnings of keys up to the delimiter. */
  prefixes: string[]
  /** Continues the list; undefined on the last page. */
  token: string | undefined
}

export interface S3Upload {
  key: string
  id: string
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export function readPage(xml: string): S3Page {
  const isCut = textOf(xml, 'IsTruncated') === 'true'
  return {
    keys: elementsOf(xml, 'Contents').flatMap(each => textOf(each, 'Key') ?? []),
    prefixes: elementsOf(xml, 'CommonPrefixes').flatMap(each => textOf(each, 'Prefix') ?? []),
    token: isCut ? textOf(xml, 'NextContinuationToken') : undefined,
  }
}

export function readUploads(xml: string): S3Upload[] {
  return elementsOf(xml, 'Upload').flatMap(each => {
    const [key, id] = [textOf(each, 'Key'), textOf(each, 'UploadId')]
    return key === undefined || id === undefined ? [] : [{ key, id }]
  })
}

/** @returns undefined when the reply is not an error in XML */
export function readError(
  xml: string,
): { code: string; message: string; region: string | undefined } | undefined {
  const [error] = elementsOf(xml, 'Error')
  const code = error && textOf(error, 'Code')
  if (code === undefined) return undefined
  return { code, message: textOf(error!, 'Message') ?? '', region: textOf(error!, 'Region') }
}

/** @returns the decoded text of the first element of the name */
export function textOf(xml: string, name: string): string | undefined {
  const [text] = elementsOf(xml, name)
  return text?.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, entity) => {
    if (entity !== undefined) return ENTITIES[entity] ?? whole
    const point = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal)
    return point <= 0x10_ffff ? String.fromCodePoint(point) : whole
  })
}

/** @returns contents of the elements of the name, which do not contain each other */
function elementsOf(xml: string, name: string): string[] {
  const found: string[] = []
  const [open, close] = [`<${name}>`, `</${name}>`]
  for (let from = xml.indexOf(open); from >= 0; from = xml.indexOf(open, from)) {
    const to = xml.indexOf(close, from)
    if (to < 0) break
    found.push(xml.slice(from + open.length, to))
    from = to + close.length
  }
  return found
}
