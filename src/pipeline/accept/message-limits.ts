/**
 * Limits for the size of one email, for every interface. This file is part of the dashboard, too.
 */

/** Limit for the size after transfer encoding. Receivers rarely accept larger messages. */
export const MESSAGE_BYTES_MAX = 40 * 1024 * 1024

/**
 * Limit for the attachments of a broadcast together, after transfer encoding: each recipient gets a copy,
 * which is composed and sent anew.
 */
export const BROADCAST_ATTACHMENTS_BYTES_MAX = 2 * 1024 * 1024

/** Limit for the number of files in a request of the API. */
export const ATTACHMENTS_MAX = 100

/** Base64 encodes 57 bytes in a line of 76 characters and CRLF. */
export const ENCODED_OCTETS_PER_BYTE = 78 / 57
