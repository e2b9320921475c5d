package io.seriatim.graph.op;

import io.seriatim.graph.program.OperationTypes;
import java.util.List;

/** Answers from the schemas in {@link Operations}; found as a service. */
public final class SchemaTypes implements OperationTypes {
    /** For the service loader. */
    public SchemaTypes() {
    }

    @Override
    public boolean isKnown(String type) {
        return Operations.system().find(type) != null;
    }

    @Override
    public boolean hasAttribute(String type, String attribute) {
        Operation schema = Operations.system().find(type);
        return schema != null && schema.attribute(attribute) != null;
    }

    @Override
    public List<String> aliases(String type) {
        Operation schema = Operations.system().find(type);
        return schema == null ? List.of() : schema.aliases().stream().sorted().toList();
    }
}
