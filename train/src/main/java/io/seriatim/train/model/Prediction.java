package io.seriatim.train.model;

import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds the prediction of a network. An operation on the path to the loss joins the predictions, which depend on
 * parameters, with the labels, which do not. If there are several such operations, the nearest known loss operation is
 * used, or otherwise the nearest operation.
 */
final class Prediction {
    private static final Set<String> LOSSES = Set.of("softmax_with_cross_entropy", "c_softmax_with_cross_entropy",
            "cross_entropy",
            "cross_entropy2", "bce_loss", "sigmoid_cross_entropy_with_logits", "sigmoid_focal_loss", "huber_loss",
            "smooth_l1_loss",
            "kldiv_loss", "log_loss", "hinge_loss", "nll_loss", "mse_loss", "square_error_cost", "margin_rank_loss",
            "bpr_loss",
            "margin_cross_entropy", "warpctc", "warprnnt");
    private final List<String> feeds;
    private final Map<String, OpDesc> producers = new HashMap<>();
    private final Map<String, Set<String>> feedsOf = new HashMap<>();
    private final Set<String> trained = new HashSet<>();

    Prediction(Block block, List<String> feeds) {
        this.feeds = List.copyOf(feeds);
        feeds.forEach(feed -> feedsOf.put(feed, Set.of(feed)));
        block.vars().stream().filter(VarDesc::isTrained).forEach(desc -> trained.add(desc.name()));
        for (OpDesc op : block.ops()) {
            Set<String> from = new LinkedHashSet<>();
            op.inputNames().forEach(name -> from.addAll(feedsOf.getOrDefault(name, Set.of())));
            boolean learns = op.inputNames().stream().anyMatch(trained::contains);
            for (String name : op.outputNames()) {
                producers.put(name, op);
                feedsOf.merge(name, from, Prediction::union);
                if (learns) {
                    trained.add(name);
                }
            }
        }
    }

    private static Set<String> union(Set<String> a, Set<String> b) {
        Set<String> both = new LinkedHashSet<>(a);
        both.addAll(b);
        return both;
    }

    /** Returns the outputs of a saved model: the predictions, or the loss itself if it has no labels. */
    List<String> of(String loss) {
        List<String> nearest = List.of();
        Set<String> seen = new HashSet<>(Set.of(loss));
        Deque<String> open = new ArrayDeque<>(seen);
        while (!open.isEmpty()) {
            OpDesc op = producers.get(open.remove());
            if (op == null) {
                continue;
            }
            List<String> learned = op.inputNames().stream()
                    .filter(name -> trained.contains(name) && dependsOnFeeds(name)).distinct()
                    .toList();
            boolean labelled = op.inputNames().stream()
                    .anyMatch(name -> !trained.contains(name) && dependsOnFeeds(name));
            if (labelled && !learned.isEmpty()) {
                if (LOSSES.contains(op.type())) {
                    return learned;
                }
                nearest = nearest.isEmpty() ? learned : nearest;
            }
            learned.stream().filter(seen::add).forEach(open::add);
        }
        return nearest.isEmpty() ? List.of(loss) : nearest;
    }

    private boolean dependsOnFeeds(String name) {
        return !feedsOf.getOrDefault(name, Set.of()).isEmpty();
    }

    /** Returns the feeds that the given variables depend on, in the order of the feeds. */
    List<String> feeds(List<String> variables) {
        Set<String> needed = new HashSet<>();
        variables.forEach(name -> needed.addAll(feedsOf.getOrDefault(name, Set.of())));
        return feeds.stream().filter(needed::contains).toList();
    }
}
