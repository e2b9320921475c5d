package io.seriatim.graph;

import io.seriatim.device.Place;
import java.util.List;

/** Makes a program for several places. */
final class Replication {
    private final List<Place> places;

    Replication(Program main, Program startup, List<String> feeds, String loss, List<String> fetches, List<Place> places) {
        this.places = List.copyOf(places);
    }

    DataParallel result() {
        throw new IllegalStateException("not yet for " + places);
    }
}
