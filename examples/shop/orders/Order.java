package shop.orders;

import java.util.List;
import shop.catalog.Article;
import shop.money.Money;

/** What a customer wants. */
public record Order(String customer, List<Line> lines) {
    public record Line(Article article, int count) {
    }

    public Money total() {
        return lines.stream().map(line -> line.article().price().times(line.count())).reduce(new Money(0), Money::plus);
    }
}
