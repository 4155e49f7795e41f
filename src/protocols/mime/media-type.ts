/**
 * Parses the media type that a user gives an attachment, and formats it again, so that nothing else is sent
 * with it.
 */
import { parameter } from './parameters.ts'

export interface MediaType {
  /** Media type, `type/subtype` in lower case. */
  essence: string
  /** Formatted parameters such as `method="REQUEST"`. */
  parameters: string[]
}

const OCTET_STREAM = 'application/octet-stream'
const ESSENCE = /^\s*([\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127})\s*(?=;|$)/
const PARAMETER = /;\s*([\w!#$&^.+-]{1,60})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))\s*/y
/** Parameters that the composer sets. */
const OWN_PARAMETERS = ['name', 'boundary']

/**
 * Parses a media type (RFC 2045 §5.1). A text without a type is `application/octet-stream`, and so is
 * `multipart/*`: an attachment is opaque octets, and a composite type must not be encoded (§6.4).
 */
export function parseMediaType(text: string): MediaType {
  const match = ESSENCE.exec(text)
  const essence = match?.[1]?.toLowerCase() ?? OCTET_STREAM
  if (!match || essence.startsWith('multipart/')) return { essence: OCTET_STREAM, parameters: [] }
  return { essence, parameters: readParameters(text, match[0].length) }
}

/** Reads parameters up to the first text that is not a parameter. */
function readParameters(text: string, from: number): string[] {
  const parameters: string[] = []
  const seen = new Set(OWN_PARAMETERS)
  PARAMETER.lastIndex = from
  for (let match = PARAMETER.exec(text); match; match = PARAMETER.exec(text)) {
    const name = match[1]!.toLowerCase()
    if (seen.has(name)) continue
    seen.add(name)
    parameters.push(...parameter(name, match[2]?.replace(/\\(.)/gs, '$1') ?? match[3]!))
  }
  return parameters
}
