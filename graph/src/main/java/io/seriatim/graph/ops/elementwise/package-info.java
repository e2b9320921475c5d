/** Operations that compute each element of the output from the elements at the same place of the inputs. */
@NullMarked
package io.seriatim.graph.ops.elementwise;

import org.jspecify.annotations.NullMarked;
