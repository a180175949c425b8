// roi_align_listed.cu: the gradient of the maps of roi_align.cu, for a GPU: what a pixel gets is found once for all channels.
//
// A launch lists, for each pixel of each tile, the bins that have it: what their samples weigh there together, a product of weights
// of the lists by pixel of roi_lists.h, and the place of the bin's gradient, in the order of regions and bins. It brings the
// gradients into rows of all channels of a bin besides. listed_add.cu adds them up. A tile whose lists outgrow their room is left
// to roi_align_tiles.cu.
#include "crossed.h"
#include "listed_pack.h"
#include "roi_lists.h"

// A block lists a tile of an image, or packs PACKED_CHANNELS channels of a region. heads and room: see listed.h.
KERNEL roi_align_prepare(int n, const Store* top_diff, const int* lists, const int* head, const Real* inverse, const int* pixel_index,
                         const Real* pixel_weight, Real* packed, int* heads, Real* room, int most, ListGeometry g) {
  const int bins = g.pooled_height * g.pooled_width;
  BLOCK_LOOP(b, n) {
    SHARED union {
      Crossing crossing;
      Real square[PACKED_SQUARE];
    } work;
    const Tiles tiles = tiles_of(lists);
    const Turns turns = turns_of(b, g.batch * tiles.down * tiles.across, g.regions, g.channels, -1);
    if (turns.lists) {
      const auto items_of = [&](int k, int axis, int line) {
        const Axis by_pixel = axis_by_pixel(k, axis, head, pixel_index, pixel_weight, g);
        const int i = line - by_pixel.first;
        return unsigned(i) < unsigned(by_pixel.length) ? Span{by_pixel.start[i], by_pixel.start[i + 1]} : Span{0, 0};
      };
      const auto item = [&](int k, int axis, int, int i) {
        const Offsets to = offsets_of(k, axis, g.height + 1, g.width + 1, g);
        const Real weight = pixel_weight[to.weight + i];
        return Item{pixel_index[to.at + i], axis ? weight : weight * inverse[k]};
      };
      const Tile tile = tile_of(turns.number, lists, tiles, g.height, g.width);
      list_crossed(tile, heads + (long long)turns.number * LIST_HEAD, (Entry*)room, turns.number * most, most, g.regions, bins,
                   g.pooled_width, g.channels, work.crossing, items_of, item);
      if (turns.number == 0) pack_zeros(packed, g.regions * bins, g.channels);
    } else if (head[5 * turns.number] >= 0) {  // no list names a region that lies in no image
      pack(top_diff, packed, turns.number, turns.channel, g.channels, bins, work.square,
           [](const Square& square, int c, int i) { return at(square, c, i); });
    }
    BARRIER();
  }
}
