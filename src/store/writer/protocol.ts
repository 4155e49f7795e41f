/** Messages between the writer thread and its clients. */

/** Clients post lists of these. */
export interface WriteRequest {
  seq: number
  name: string
  input: unknown
}

export type WriteReply =
  | { seq: number; ok: true; output: unknown }
  | { seq: number; ok: false; unavailable: boolean; message: string; stack?: string }

/** Payloads of one topic, committed together. */
export interface Announcement {
  topic: string
  payloads: unknown[]
}

/** One message a group: the client's replies and whatever the group announced. */
export interface GroupReport {
  replies: WriteReply[]
  announcements: Announcement[]
}
