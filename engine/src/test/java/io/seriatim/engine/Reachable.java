package io.seriatim.engine;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Counts the objects that are reachable from given ones: objects of the engine, arrays, and elements of collections of
 * the JDK. Other objects of the JDK count as one; futures count with their dependents. The engine's threads must not be
 * running.
 */
final class Reachable {
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> open = new ArrayDeque<>();
    private long dependents;

    private Reachable() {
    }

    static long count(Object... roots) throws IllegalAccessException {
        Reachable walk = new Reachable();
        for (Object root : roots) {
            walk.add(root);
        }
        Object o;
        while ((o = walk.open.poll()) != null) {
            walk.look(o);
        }
        return walk.seen.size() + walk.dependents;
    }

    private void add(@Nullable Object o) {
        if (o != null && seen.add(o)) {
            open.add(o);
        }
    }

    private void look(Object o) throws IllegalAccessException {
        if (o instanceof CompletableFuture<?> future) {
            dependents += future.getNumberOfDependents();
        }
        if (o instanceof Object[]) {
            for (int i = 0; i < Array.getLength(o); i++) {
                add(Array.get(o, i));
            }
        } else if (o instanceof Collection<?> collection) {
            collection.forEach(this::add);
        } else if (o instanceof Map<?, ?> map) {
            map.forEach((key, value) -> {
                add(key);
                add(value);
            });
        }
        for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
            if (c.getName().startsWith("io.seriatim.engine.")) {
                Field[] fields = c.getDeclaredFields();
                AccessibleObject.setAccessible(fields, true);
                for (Field field : fields) {
                    if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                        add(field.get(o));
                    }
                }
            }
        }
    }
}
