/**
 * Stored form of a received message: texts and headers, which are encoded together, and attachments.
 */
import type { FoundPart, ParsedMail } from '../../protocols/mime/read/read-mail.ts'
import { decodeJson, type EncodedContent, encodeJson } from '../../resources/emails/content.ts'

/** An attachment of a stored message. */
export interface StoredPart extends FoundPart {
  /** Id of the attachment, `att_<uuid>`. */
  id: string
}

export type InboundContent = Pick<ParsedMail, 'html' | 'text' | 'headers'>

export const NO_CONTENT: InboundContent = { html: null, text: null, headers: [] }

export function encodeInboundContent({ html, text, headers }: InboundContent): EncodedContent {
  return encodeJson({ html, text, headers })
}

export function decodeInboundContent(stored: Pick<EncodedContent, 'encoding' | 'body'>): InboundContent {
  return decodeJson(stored) as InboundContent
}

/** Media type of an attachment with its parameters, as a header field has them (RFC 2045 §5.1). */
export function fullContentType({ contentType, contentTypeParams = {} }: StoredPart): string {
  const parameters = Object.entries(contentTypeParams).map(([name, value]) => {
    const isToken = /^[\w!#$&^.+-]+$/.test(value)
    return `; ${name}=${isToken ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
  })
  return contentType + parameters.join('')
}
