package io.seriatim.graph.autodiff;

import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Sums gradients that several operations compute. Each part gets a name of its own; the sum stands before the first
 * operation that reads the gradient, or at the end.
 */
final class Accumulation {
    private final List<OpDesc> ops;
    private final int block;
    private final int maxChainedAdditions;
    /** For each gradient the names under which it was computed since the last sum. */
    private final Map<String, List<String>> parts = new LinkedHashMap<>();
    private final Map<String, Integer> first = new HashMap<>();
    /** Where a gradient from outside of the block was first changed in place. */
    private final Map<String, Integer> entered = new HashMap<>();
    private final Map<String, Integer> renames = new HashMap<>();
    /** The sums, by the operation before which they stand. */
    private final TreeMap<Integer, List<OpDesc>> sums = new TreeMap<>();

    /** Gradients that have a value when the block begins, until an operation reads them. */
    private final Predicate<String> incoming;
    private final Set<String> taken = new HashSet<>();
    /** Sums of which such a value is a part: they read it by its own name. */
    private final Set<OpDesc> entering = Collections.newSetFromMap(new IdentityHashMap<>());

    private Accumulation(List<OpDesc> ops, int block, int maxChainedAdditions, Predicate<String> incoming) {
        this.incoming = incoming;
        this.ops = new ArrayList<>(ops);
        this.block = block;
        this.maxChainedAdditions = maxChainedAdditions;
    }

    static List<OpDesc> of(List<OpDesc> ops, int block, int maxChainedAdditions, Predicate<String> incoming) {
        return new Accumulation(ops, block, maxChainedAdditions, incoming).run();
    }

    private List<OpDesc> run() {
        for (int i = 0; i < ops.size(); i++) {
            for (String name : ops.get(i).inputNames()) {
                if (parts.getOrDefault(name, List.of()).size() > 1) {
                    sum(name, i);
                }
                taken.add(name);
            }
            outputs(i);
        }
        for (String name : List.copyOf(parts.keySet())) {
            if (parts.getOrDefault(name, List.of()).size() > 1) {
                sum(name, ops.size());
            }
        }
        List<OpDesc> result = new ArrayList<>();
        for (int i = 0; i <= ops.size(); i++) {
            result.addAll(sums.getOrDefault(i, List.of()));
            if (i < ops.size()) {
                result.add(ops.get(i));
            }
        }
        return result;
    }

    private void outputs(int index) {
        List<String> read = ops.get(index).inputNames();
        for (String slot : List.copyOf(ops.get(index).outputs().keySet())) {
            for (int j = 0; j < ops.get(index).output(slot).size(); j++) {
                String name = ops.get(index).output(slot).get(j);
                if (!name.contains(GradientRule.SUFFIX)) {
                    continue;
                }
                // An operation that changes a gradient in place has added the parts itself. A gradient from outside of
                // the block is a part from then on.
                if (!read.contains(name)) {
                    output(index, slot, j, name);
                } else if (parts.putIfAbsent(name, new ArrayList<>(List.of(name))) == null) {
                    first.put(name, index);
                    entered.put(name, index);
                }
            }
        }
    }

    private void output(int index, String slot, int place, String name) {
        List<String> known = parts.get(name);
        if (known == null && incoming.test(name) && !taken.contains(name)) {
            String renamed = fresh(name);
            set(index, slot, place, renamed);
            parts.put(name, new ArrayList<>(List.of(name, renamed)));
            first.put(name, index);
            return;
        }
        if (known == null) {
            parts.put(name, new ArrayList<>(List.of(name)));
            first.put(name, index);
            return;
        }
        if (known.size() == 1) {
            String renamed = fresh(name);
            known.set(0, renamed);
            for (int i = first.getOrDefault(name, 0); i < index; i++) {
                // The operation that takes in the gradient from outside reads it by its own name.
                ops.set(i, entered.getOrDefault(name, -1) == i
                        ? ops.get(i).renamed(each -> each, each -> each.equals(name) ? renamed : each)
                        : replaced(ops.get(i), name, renamed));
            }
            sums.values().forEach(
                    list -> list.replaceAll(
                            op -> entering.contains(op) ? entering(op, name, renamed) : replaced(op, name, renamed)));
            renameBefore(index, slot, place, name, renamed);
        }
        String renamed = fresh(name);
        set(index, slot, place, renamed);
        known.add(renamed);
    }

    private String fresh(String name) {
        return name + "@RENAME@block" + block + "@" + (renames.merge(name, 1, Integer::sum) - 1);
    }

    private OpDesc entering(OpDesc sum, String from, String to) {
        OpDesc renamed = sum.renamed(name -> name, name -> name.equals(from) ? to : name);
        entering.add(renamed);
        return renamed;
    }

    private static OpDesc replaced(OpDesc op, String from, String to) {
        return op.renamed(name -> name.equals(from) ? to : name, name -> name.equals(from) ? to : name);
    }

    /** The same operation may have written the variable in an earlier slot or place. */
    private void renameBefore(int index, String slot, int place, String name, String renamed) {
        Map<String, List<String>> outputs = new LinkedHashMap<>(ops.get(index).outputs());
        for (Map.Entry<String, List<String>> each : outputs.entrySet()) {
            boolean own = each.getKey().equals(slot);
            List<String> names = new ArrayList<>(each.getValue());
            for (int i = 0; i < (own ? place : names.size()); i++) {
                if (names.get(i).equals(name)) {
                    names.set(i, renamed);
                }
            }
            each.setValue(names);
            if (own) {
                break;
            }
        }
        ops.set(index, ops.get(index).with(ops.get(index).inputs(), outputs));
    }

    private void set(int index, String slot, int place, String name) {
        Map<String, List<String>> outputs = new LinkedHashMap<>(ops.get(index).outputs());
        List<String> names = new ArrayList<>(outputs.getOrDefault(slot, List.of()));
        names.set(place, name);
        outputs.put(slot, names);
        ops.set(index, ops.get(index).with(ops.get(index).inputs(), outputs));
    }

    private void sum(String name, int before) {
        List<String> all = parts.getOrDefault(name, List.of());
        List<OpDesc> list = sums.computeIfAbsent(before, _ -> new ArrayList<>());
        if (all.getFirst().equals(name)) {
            OpDesc sum = OpDesc.of("sum").in("X", all).out("Out", name).attr(Roles.SCOPE, "").build();
            entering.add(sum);
            list.add(sum);
        } else if (all.size() > maxChainedAdditions) {
            list.add(OpDesc.of("sum").in("X", all).out("Out", name).attr(Roles.SCOPE, "").build());
        } else {
            String sum = all.getFirst();
            for (int i = 1; i < all.size(); i++) {
                String to = i == all.size() - 1 ? name : name + "@ADD@" + i;
                list.add(OpDesc.of("grad_add").in("X", sum).in("Y", all.get(i)).out("Out", to).attr(Roles.SCOPE, "")
                        .build());
                sum = to;
            }
        }
        parts.put(name, new ArrayList<>(List.of(name)));
        // A further part renames the sum too, and all operations that read it.
        first.put(name, before);
    }
}
