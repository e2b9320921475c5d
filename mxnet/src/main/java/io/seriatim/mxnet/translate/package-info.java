/** Makes programs of symbols: a table has a translator for each operator, one class for each family. */
@NullMarked
package io.seriatim.mxnet.translate;

import org.jspecify.annotations.NullMarked;
