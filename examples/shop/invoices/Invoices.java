package shop.invoices;

import shop.mail.Letter;
import shop.mail.Outbox;
import shop.orders.Order;

/** Asks customers for money. */
public final class Invoices {
    private Invoices() {
    }

    public static void send(Order order, Outbox outbox) {
        outbox.put(new Letter(order.customer(), "Please pay " + order.total()));
    }
}
