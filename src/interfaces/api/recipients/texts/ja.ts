/** Japanese texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const ja: PageTexts = {
  sender: name => name ?? 'この送信者',
  emailsFrom: sender => `${sender} からのメール`,
  emailsAbout: topic => `「${topic}」に関するメール`,
  receives: (address, sender) => `${address} 宛てに ${sender} からのメールをお届けしています。`,
  receivesAbout: (address, sender, topic) =>
    `${address} 宛てに ${sender} から「${topic}」に関するメールをお届けしています。`,
  leftAll: (address, sender) => `${address} への ${sender} からのすべてのメールの配信を停止しました。`,
  leftTopic: (address, topic) => `${address} への「${topic}」に関するメールの配信を停止しました。`,
  saved: '設定を保存しました。',
  subscribedAgain: '配信を再開しました。',
  leaveTopic: topic => `「${topic}」の配信を停止`,
  leaveAll: 'すべてのメールの配信を停止',
  subscribeAgain: '配信を再開',
  save: '保存',
  chooseTopics: 'または受け取るトピックを選択',
  selectToReturn: '配信を希望するトピックを選択してください。選択しない場合、配信は停止されたままです。',
  from: '差出人',
  to: '宛先',
  cc: 'Cc',
  date: '日時',
  email: 'メール本文',
  brokenLink: 'このリンクは無効です',
  brokenLinkHint:
    'リンクが途中で切れているか、変更されている可能性があります。メールからもう一度開いてください。',
  emailGone: 'このメールは表示できなくなりました',
  emailGoneHint:
    'ブラウザーでメールを表示できる期間は限られています。受信トレイにはまだ残っているかもしれません。',
}
