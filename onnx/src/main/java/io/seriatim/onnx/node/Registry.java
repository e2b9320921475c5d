package io.seriatim.onnx.node;

import io.seriatim.graph.translate.Ref;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The translators of operators, by domain and type. */
public final class Registry {
    /** The domain of ONNX Runtime's own operators. */
    public static final String MICROSOFT = "com.microsoft";

    /** The domain of ONNX's operators that may still change. */
    public static final String PREVIEW = "ai.onnx.preview";

    private final Map<String, Translator> translators = new HashMap<>();

    /** Creates a registry without translators. */
    public Registry() {
        // The map is filled by the families.
    }

    /** Adds an operator of ONNX with one result. */
    public void one(String type, Function<Node, Ref> translator) {
        all(type, node -> List.of(translator.apply(node)));
    }

    /** Adds an operator of ONNX with any number of results. */
    public void all(String type, Translator translator) {
        add("", type, translator);
    }

    /** Adds an operator of any domain. */
    public void add(String domain, String type, Translator translator) {
        if (translators.put(key(domain, type), translator) != null) {
            throw new IllegalStateException("Operator " + domain + "." + type + " has two translators");
        }
    }

    /** The translator of an operator; null if there is none. */
    public @Nullable Translator find(String domain, String type) {
        return translators.get(key(domain, type));
    }

    /** The operators that have a translator, those of other domains than ONNX's after it with a dot. */
    public SortedSet<String> names() {
        SortedSet<String> names = new TreeSet<>();
        translators.keySet().forEach(key -> names.add(key.startsWith(":") ? key.substring(1) : key.replace(':', '.')));
        return names;
    }

    private static String key(String domain, String type) {
        return domain + ":" + type;
    }
}
