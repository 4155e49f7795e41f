/** What is said of mail whose domain has been deleted, wherever it is stopped. */

/** Topic of announcements: the id of a domain that is gone. */
export const DOMAIN_DELETED = 'domain_deleted'

export function deletedReason(name: string): string {
  return `The ${name} domain was deleted.`
}
