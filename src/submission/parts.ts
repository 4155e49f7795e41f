/** What a submitted message says, for those who look at it in the dashboard or over the API: its texts and files. */
import { type ParsedMail, type SimpleParserOptions, simpleParser } from 'mailparser'
import { attachmentName, type SubmittedAttachment } from '../accept/submission.ts'
import type { Content } from '../store/mail/content.ts'

export interface Parts {
  content: Content
  attachments: SubmittedAttachment[]
}

/** The parser makes nothing up: no HTML from text, no text from HTML. */
const OPTIONS: SimpleParserOptions = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
}
/** More are still sent, and not shown. */
const MOST_SHOWN = 100
const LONGEST_NAME = 255

/** A message that cannot be taken apart is sent all the same, and shown without its texts. */
export async function partsOf(message: Buffer): Promise<Parts> {
  const parsed = await simpleParser(message, OPTIONS)
  return { content: contentOf(parsed), attachments: attachmentsOf(parsed) }
}

/** The parser makes an empty text of what has none. */
function contentOf({ html, text }: ParsedMail): Content {
  return { html: html === false ? null : html, text: text || null }
}

function attachmentsOf({ attachments }: ParsedMail): SubmittedAttachment[] {
  return attachments.slice(0, MOST_SHOWN).map(({ filename, contentType, cid, content }, index) => ({
    filename: (filename ?? attachmentName(index, contentType)).slice(0, LONGEST_NAME),
    contentType,
    contentId: cid ?? null,
    content,
  }))
}
