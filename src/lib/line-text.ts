/** Schema of short texts that lists, logs and pages show on one line, such as the names of resources. */
import * as z from 'zod'
import { shortened } from './shortened.ts'

/**
 * Excludes control characters, and those that reverse the text around them (Unicode UAX #9 §2.1 to §2.4).
 * It has no property classes, which the regular expressions of some OpenAPI clients do not know.
 */
const LINE = /^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$/

/** The characters that `LINE` excludes. */
const OUTSIDE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/**
 * Makes a text of a stranger fit on one line: every excluded character becomes a question mark.
 * @param charactersMax the rest is cut off
 */
export function onOneLine(text: string, charactersMax: number): string {
  return shortened(text, charactersMax).replace(OUTSIDE, '?')
}

/** @param charactersMax maximum length; the text may be empty */
export function lineText(charactersMax: number) {
  return z
    .string()
    .max(charactersMax)
    .regex(LINE, 'must not contain control characters or characters that change the direction of text')
}
