/**
 * Words of the pages that recipients see: unsubscribing, preferences, emails in the browser. Each language
 * has one table of them.
 */

/** Names, topics and addresses are passed as HTML, already escaped. */
export interface PageTexts {
  /** Phrase for the sender that fits into `emailsFrom`, `receives` and `leftAll`. */
  sender(name: string | undefined): string
  emailsFrom(sender: string): string
  emailsAbout(topic: string): string
  receives(address: string, sender: string): string
  receivesAbout(address: string, sender: string, topic: string): string
  leftAll(address: string, sender: string): string
  leftTopic(address: string, topic: string): string
  saved: string
  subscribedAgain: string
  /** Labels of buttons. */
  leaveTopic(topic: string): string
  leaveAll: string
  subscribeAgain: string
  save: string
  /** Heading of the topics. */
  chooseTopics: string
  /** Hint below the heading while the reader is unsubscribed from everything. */
  selectToReturn: string
  /** Labels of the header fields of an email. */
  from: string
  to: string
  cc: string
  date: string
  /** Name of the frame with the email, for screen readers. */
  email: string
  brokenLink: string
  brokenLinkHint: string
  emailGone: string
  emailGoneHint: string
}
