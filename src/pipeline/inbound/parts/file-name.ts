/** The name of a received file: nothing but a name, whatever its sender calls it. */

import { shortFileName } from '../../../protocols/mime/file-name.ts'
import { attachmentName } from '../../accept/submission.ts'

/** Controls, and characters that make a name look like another one. */
const HARMFUL = /[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g
const MESSAGES = new Set(['message/rfc822', 'message/global'])

/** @param index by which a file without a name is known; from 0 */
export function fileName(given: string | undefined, index: number, type: string): string {
  const name = safe(given ?? '')
  return name === '' ? attachmentName(index, type) : name
}

export function isMessage(type: string): boolean {
  return MESSAGES.has(type)
}

/** Returns the subject of an enclosed message as its file name. */
export function messageName(subject: string | undefined, index: number): string {
  const name = safe((subject ?? '').replace(/[/\\:*?"<>|]+/g, ' ')).slice(0, 100)
  return name.trim() === '' ? `attachment-${index + 1}.eml` : `${name.trim()}.eml`
}

/** Without folders, and not one that stands for a folder. */
function safe(given: string): string {
  const name = given.replace(HARMFUL, '').split(/[/\\]/).at(-1)!.trim()
  if (/^\.{0,2}$/.test(name)) return ''
  return shortFileName(name).toWellFormed()
}
