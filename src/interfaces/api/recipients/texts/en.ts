/** English texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const en: PageTexts = {
  sender: name => name ?? 'this sender',
  emailsFrom: sender => `Emails from ${sender}`,
  emailsAbout: topic => `Emails about ${topic}`,
  receives: (address, sender) => `You receive emails from ${sender} at ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `You receive emails about ${topic} from ${sender} at ${address}.`,
  leftAll: (address, sender) => `${address} is unsubscribed from all emails of ${sender}.`,
  leftTopic: (address, topic) => `${address} is unsubscribed from emails about ${topic}.`,
  saved: 'Your preferences were saved.',
  subscribedAgain: 'You are subscribed again.',
  leaveTopic: topic => `Unsubscribe from ${topic}`,
  leaveAll: 'Unsubscribe from all',
  subscribeAgain: 'Subscribe again',
  save: 'Save',
  chooseTopics: 'Or choose your topics',
  selectToReturn: 'Select topics to subscribe to. Without a selection you stay unsubscribed.',
  from: 'From',
  to: 'To',
  cc: 'Cc',
  date: 'Date',
  email: 'The email',
  brokenLink: 'This link does not work',
  brokenLinkHint: 'It may have been cut off or changed. Open it from the email again.',
  emailGone: 'This email is no longer available',
  emailGoneHint: 'Emails can be read in the browser for a limited time. It may still be in your mailbox.',
}
