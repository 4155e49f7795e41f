/** Encodes and decodes the texts and headers of a received message, which are stored together. */
import { decodeJson, type EncodedContent, encodeJson } from '../../resources/emails/content.ts'
import type { ParsedMail } from './parts/parsed-mail.ts'

export type InboundContent = Pick<ParsedMail, 'html' | 'text' | 'headers'>

export const NO_CONTENT: InboundContent = { html: null, text: null, headers: [] }

export function encodeInboundContent({ html, text, headers }: InboundContent): EncodedContent {
  return encodeJson({ html, text, headers })
}

export function decodeInboundContent(stored: Pick<EncodedContent, 'encoding' | 'body'>): InboundContent {
  return decodeJson(stored) as InboundContent
}
