/** Names the parsed form of a message for `mail-reader.ts`. */
export type { ParsedMail } from '../../../protocols/mime/read/read-mail.ts'
