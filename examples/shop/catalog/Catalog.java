package shop.catalog;

import java.util.Map;
import java.util.TreeMap;

/** All articles by name. */
public final class Catalog {
    private final Map<String, Article> articles = new TreeMap<>();

    public void add(Article article) {
        articles.put(article.name(), article);
    }

    public Article find(String name) {
        return articles.get(name);
    }
}
