/** Announcement and error text for mail of deleted domains. */

/** Topic of announcements with the id of a deleted domain. */
export const DOMAIN_DELETED = 'domain_deleted'

export function deletedReason(name: string): string {
  return `The ${name} domain was deleted.`
}
