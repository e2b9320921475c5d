package shop.mail;

import java.util.ArrayList;
import java.util.List;

/** Letters, in the order in which they were put in. */
public final class Outbox {
    private final List<Letter> letters = new ArrayList<>();

    public void put(Letter letter) {
        letters.add(letter);
    }

    public List<Letter> letters() {
        return List.copyOf(letters);
    }
}
