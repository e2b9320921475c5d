package io.seriatim.graph.parallel;

import io.seriatim.device.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * The places of a program's replicas, and the suffixes that tell their variables apart.
 *
 * @param places
 *            one for each replica
 */
record Replicas(List<Place> places) {
    Replicas {
        if (places.isEmpty()) {
            throw new IllegalArgumentException("A program runs on one place or more, but there is none");
        }
        // All memory of the host is one.
        places = places.stream().map(place -> place.isHost() ? Place.CPU : place).toList();
    }

    int count() {
        return places.size();
    }

    Place place(int replica) {
        return places.get(replica);
    }

    /** The first replica at the same place: it has what the place has once. */
    int leader(int replica) {
        return places.indexOf(places.get(replica));
    }

    /** The first replica at each place. */
    List<Integer> leaders() {
        return places.stream().distinct().map(places::indexOf).toList();
    }

    /** All replicas at the place of a leader. */
    List<Integer> followers(int leader) {
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < places.size(); i++) {
            if (leader(i) == leader) {
                all.add(i);
            }
        }
        return all;
    }

    /** The suffix of the names of a replica's variables; empty for the first. */
    String suffix(int replica) {
        if (replica == 0) {
            return "";
        }
        long occurrence = places.subList(0, replica + 1).stream().filter(places.get(replica)::equals).count();
        return "@" + places.get(replica) + (occurrence > 1 ? "#" + occurrence : "");
    }

    /** A seed of its own for each replica. The first replica keeps its seed, and a seed of 0 stays 0. */
    static int seed(int seed, int replica) {
        if (seed == 0 || replica == 0) {
            return seed;
        }
        long mixed = (seed + replica * 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        int other = (int) (mixed >>> 33);
        return other == 0 || other == seed ? seed + replica : other;
    }
}
