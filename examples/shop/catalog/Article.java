package shop.catalog;

import shop.money.Money;

/** Something to buy. */
public record Article(String name, Money price) {
}
