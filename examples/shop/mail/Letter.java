package shop.mail;

/** Something to send. */
public record Letter(String to, String text) {
}
