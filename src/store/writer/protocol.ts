/** Messages between the writer thread and its clients. */

/** Request of a client. Clients post lists of requests. */
export interface WriteRequest {
  seq: number
  name: string
  input: unknown
}

export type WriteReply =
  | { seq: number; ok: true; output: unknown }
  | { seq: number; ok: false; unavailable: boolean; message: string; stack?: string }

/** Payloads of one topic that were committed together. */
export interface Announcement {
  topic: string
  payloads: unknown[]
}

/** Message to a client after each group: the replies to its requests, and all announcements of the group. */
export interface GroupReport {
  replies: WriteReply[]
  announcements: Announcement[]
}
