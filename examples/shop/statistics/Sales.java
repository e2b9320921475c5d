package shop.statistics;

import java.util.List;
import shop.money.Money;
import shop.orders.Order;

/** What was sold. */
public final class Sales {
    private Sales() {
    }

    public static Money of(List<Order> orders) {
        return orders.stream().map(Order::total).reduce(new Money(0), Money::plus);
    }
}
